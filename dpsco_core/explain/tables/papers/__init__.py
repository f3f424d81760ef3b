"""The five papers reproduced: their statements in numbers at a setting, and figures of them."""
